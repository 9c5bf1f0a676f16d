// Loaded into a process under measurement (`--require`): when it ends it appends what it used to the file that
// LIVEHOUSE_BENCH_USAGE names. A launcher that starts another Node leaves two lines.
'use strict'
const { appendFileSync } = require('node:fs')

process.on('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage()
  const line = JSON.stringify({ cpuUs: userCPUTime + systemCPUTime, peakKb: maxRSS })
  appendFileSync(process.env.LIVEHOUSE_BENCH_USAGE, `${line}\n`)
})
