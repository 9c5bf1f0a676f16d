import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** The folder of the package, with its `package.json`: a checkout, or where npm has installed it. */
export const packageFolder = dirname(createRequire(import.meta.url).resolve('livehouse/package.json'))

/** How the program's modules end: `.ts` in a checkout, `.mjs` in an installed package, where Node removes no types. */
export const moduleEnding = import.meta.url.endsWith('.ts') ? '.ts' : '.mjs'

/** Where `migrations`, `jobs` and `src` lie. */
export const programFolder = moduleEnding === '.ts' ? packageFolder : join(packageFolder, 'dist')
