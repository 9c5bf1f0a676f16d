import * as fc from 'fast-check'
import { afterAll, vi } from 'vitest'
import { removeTemporaryFolders } from './temporary-folder.ts'
import { forgetWhatIsUnderWay } from './under-way.ts'

// Properties try the same cases each time, so that a red run says something about the change.
const { MODEL_SEED = '20261123' } = process.env
fc.configureGlobal(MODEL_SEED === 'random' ? {} : { seed: Number(MODEL_SEED) })

// Runs before each test file, also where files share their modules: nothing of one is left to the next.
afterAll(() => {
  removeTemporaryFolders()
  forgetWhatIsUnderWay()
  vi.unstubAllEnvs()
})
