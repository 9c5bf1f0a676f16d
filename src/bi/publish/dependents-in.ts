const DEPENDENT_OBJECTS_STILL_EXIST = '2BP01'

/** What somebody made on top of what was to be dropped, by the names of Postgres; undefined for any other error. */
export function dependentsIn(error: unknown): string | undefined {
  if (!(error instanceof Error && 'code' in error && error.code === DEPENDENT_OBJECTS_STILL_EXIST)) return undefined
  const detail = 'detail' in error ? String(error.detail) : ''
  const names = [...detail.matchAll(/^(.+?) depends on /gm)].map(([, name]) => name)
  return [...new Set(names)].join(', ')
}
