import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { programFolder } from '../core/program-files.ts'

/** A file that pages load. */
export interface Asset {
  readonly contentType: string
  readonly body: Buffer
  readonly zipped: Buffer
}

/** The files by the path under which they are served, and these paths by name. */
export interface Assets {
  readonly byPath: ReadonlyMap<string, Asset>
  readonly paths: { readonly style: string; readonly script: string; readonly chart: string; readonly icon: string }
}

/** Reads the page's own files and the chart library. Their paths change with their contents, so browsers may keep them. */
export async function readAssets(): Promise<Assets> {
  const folder = join(programFolder, 'src', 'web', 'assets')
  // The library names no path to this file; it lies beside its main one.
  const library = dirname(createRequire(import.meta.url).resolve('chart.js'))
  const style = await readAsset(join(folder, 'page.css'), 'text/css; charset=utf-8')
  const script = await readAsset(join(folder, 'page.js'), 'text/javascript; charset=utf-8')
  const icon = await readAsset(join(folder, 'icon.svg'), 'image/svg+xml')
  const chart = await readAsset(join(library, 'chart.umd.min.js'), 'text/javascript; charset=utf-8')
  const paths = {
    style: pathOf('page', 'css', style),
    script: pathOf('page', 'js', script),
    chart: pathOf('chart', 'js', chart),
    icon: pathOf('icon', 'svg', icon),
  }
  return {
    byPath: new Map([
      [paths.style, style],
      [paths.script, script],
      [paths.chart, chart],
      [paths.icon, icon],
    ]),
    paths,
  }
}

async function readAsset(path: string, contentType: string): Promise<Asset> {
  const body = await readFile(path)
  return { contentType, body, zipped: await promisify(gzip)(body) }
}

function pathOf(name: string, ending: string, { body }: Asset): string {
  return `/assets/${name}.${createHash('sha256').update(body).digest('hex').slice(0, 12)}.${ending}`
}
