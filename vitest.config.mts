import { defineConfig } from 'vitest/config'

export default defineConfig({
  // In a checkout, job files import the source; `exports` in package.json names files of the package.
  resolve: { alias: { livehouse: `${import.meta.dirname}/src/core/define-job.ts` } },
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    // The modules of src hold no state, so the test files of a worker share them and its process.
    isolate: false,
    // Some tests wait, for a lease to expire or a retry to come, while others keep two cores busy. On two cores, four
    // workers take 276 s and three take 300 s.
    maxWorkers: 4,
    // Only a hang takes this long, even on a slow machine with other work.
    testTimeout: 1_200_000,
    hookTimeout: 1_200_000,
    unstubEnvs: true,
    setupFiles: ['test/helpers/after-each-file.ts'],
    globalSetup: ['test/helpers/postgres-server.ts'],
  },
})
