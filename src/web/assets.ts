import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { programFolder } from '../core/program-files.ts'

/** The files by the path at which they are served, and these paths by name. */
export type Assets = Awaited<ReturnType<typeof readAssets>>

/** Reads the page's own files and the chart library. Paths contain a hash, so browsers may cache them for ever. */
export async function readAssets() {
  const folder = join(programFolder, 'src', 'web', 'assets')
  // The package does not export this file; it lies beside the main one.
  const library = dirname(createRequire(import.meta.url).resolve('chart.js'))
  const byPath = new Map<string, { readonly contentType: string; readonly body: Buffer }>()
  const add = async (name: string, file: string, contentType: string): Promise<string> => {
    const body = await readFile(file)
    const path = `/assets/${createHash('sha256').update(body).digest('hex').slice(0, 12)}-${name}`
    byPath.set(path, { contentType, body })
    return path
  }
  const paths = {
    style: await add('page.css', join(folder, 'page.css'), 'text/css; charset=utf-8'),
    script: await add('page.js', join(folder, 'page.js'), 'text/javascript; charset=utf-8'),
    chart: await add('chart.js', join(library, 'chart.umd.min.js'), 'text/javascript; charset=utf-8'),
    icon: await add('icon.svg', join(folder, 'icon.svg'), 'image/svg+xml'),
  }
  return { byPath, paths }
}
