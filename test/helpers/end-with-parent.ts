import { rm } from 'node:fs/promises'
import { locateHome } from '../../src/store/embedded/home.ts'
import { stopEmbedded } from '../../src/store/embedded.ts'

// A program of its own: `node end-with-parent.ts DATA_DIR`. Its standard input ends when the test run ends, even by a
// kill. It then removes the embedded server and its data. After an orderly teardown, nothing is left to remove.
const [dataDir] = process.argv.slice(2)
process.stdin.resume()
process.stdin.on('close', () => {
  if (dataDir !== undefined) void end(dataDir)
})

async function end(directory: string): Promise<void> {
  await stopEmbedded(directory, new AbortController().signal)
  const { place } = await locateHome(directory)
  for (const path of [place, directory]) await rm(path, { recursive: true, force: true })
}
