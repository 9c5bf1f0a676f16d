import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** The folder that holds `package.json`: a checkout, or the place where npm installed the package. */
export const packageFolder = dirname(createRequire(import.meta.url).resolve('livehouse/package.json'))

/** The extension of modules: `.ts` in a checkout, `.mjs` in an installed package, where Node does not strip types. */
export const moduleEnding = import.meta.url.endsWith('.ts') ? '.ts' : '.mjs'

/** The folder that holds `migrations`, `jobs` and `src`. */
export const programFolder = moduleEnding === '.ts' ? packageFolder : join(packageFolder, 'dist')
