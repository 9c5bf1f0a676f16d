import * as fc from 'fast-check'
import { afterAll, vi } from 'vitest'
import { removeTemporaryFolders } from './temporary-folder.ts'
import { forgetWhatIsUnderWay } from './under-way.ts'

// Properties try the same cases each time, so that a red run says something about the change.
const { MODEL_SEED = '20261123' } = process.env
fc.configureGlobal(MODEL_SEED === 'random' ? {} : { seed: Number(MODEL_SEED) })

// A setup file runs before each test file, even if files share modules. Nothing of one file is left for the next.
afterAll(async () => {
  await removeTemporaryFolders()
  forgetWhatIsUnderWay()
  vi.unstubAllEnvs()
})
