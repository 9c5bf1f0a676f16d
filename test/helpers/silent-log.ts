import type { Log } from '../../src/core/log.ts'

export const silentLog: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
