// Loaded into a measured process with `--require`. On exit, appends its CPU time and peak memory to the file that
// LIVEHOUSE_BENCH_USAGE names. A launcher that spawns another Node leaves two lines.
'use strict'
const { appendFileSync } = require('node:fs')

process.on('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage()
  const line = JSON.stringify({ cpuUs: userCPUTime + systemCPUTime, peakKb: maxRSS })
  appendFileSync(process.env.LIVEHOUSE_BENCH_USAGE, `${line}\n`)
})
