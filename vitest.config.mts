import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // Only there to end a hang, also on a slow machine that has other work.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    globalSetup: ['test/helpers/postgres-server.ts'],
  },
})
