import { openEmulator } from '../lib/emulator.mts'
import { atMost, type Measure, median } from '../lib/measures.mts'
import { runProgram } from '../lib/run-program.mts'
import { databaseName, measureSync, type Scenario } from '../lib/scenario.mts'

/** h): how long a start takes if there is nothing to do. The first start fills the compile cache and is not counted. */
export const startUp: Scenario = {
  letter: 'h',
  title: 'start-up',
  run: async (bench) => {
    const help: number[] = []
    const nothing: number[] = []
    const world = { channels: 2, visitors: 20, isWhole: true, quietDays: 10 }
    await using emulator = await openEmulator({ world }, bench.signal)
    const databaseUrl = await bench.server.fresh(databaseName('start-up'))
    await measureSync(bench, emulator, { databaseUrl })
    await runProgram(['src/cli.ts', '--help'], { signal: bench.signal })
    for (let round = 0; round < (bench.isQuick ? 1 : 9); round += 1) {
      help.push((await runProgram(['src/cli.ts', '--help'], { signal: bench.signal })).wallMs)
      nothing.push((await measureSync(bench, emulator, { databaseUrl })).wallMs)
    }
    const measures: readonly Measure[] = [
      { name: 'livehouse --help', value: median(help) / 1000, unit: 's', goal: atMost(0.3) },
      {
        name: 'livehouse sync, all streams, nothing to do',
        value: median(nothing) / 1000,
        unit: 's',
        goal: atMost(1.2),
      },
    ]
    return measures
  },
}
