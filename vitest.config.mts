import { defineConfig } from 'vitest/config'

export default defineConfig({
  // In a checkout a job file gets the sources; `exports` of package.json are those of the package.
  resolve: { alias: { livehouse: `${import.meta.dirname}/src/core/define-job.ts` } },
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    // The modules of src hold no state: the files that a worker runs share them, and a process is started twice, not 270 times.
    isolate: false,
    // Some tests wait, for a lease to expire or a retry to come: meanwhile others keep two cores busy. Four at once take
    // 276 s on two cores, three 300.
    maxWorkers: 4,
    // Only there to end a hang, also on a slow machine that has other work.
    testTimeout: 1_200_000,
    hookTimeout: 1_200_000,
    unstubEnvs: true,
    setupFiles: ['test/helpers/after-each-file.ts'],
    globalSetup: ['test/helpers/postgres-server.ts'],
  },
})
