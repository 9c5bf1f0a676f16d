import { afterAll, vi } from 'vitest'
import { removeTemporaryFolders } from './temporary-folder.ts'
import { forgetWhatIsUnderWay } from './under-way.ts'

// Runs before each test file, also where files share their modules: nothing of one is left to the next.
afterAll(() => {
  removeTemporaryFolders()
  forgetWhatIsUnderWay()
  vi.unstubAllEnvs()
})
