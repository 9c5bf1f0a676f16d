/**
 * A JSON value as text, of any depth: `JSON.stringify` and everything else that recurses ends with a stack overflow a
 * few thousand levels down, and a service may send more. For values that were read from JSON, and bigints, which are
 * written as numbers.
 */
export function jsonText(value: unknown): string {
  try {
    // A tenth of the time, and the same text for all that is JSON.
    return JSON.stringify(value) ?? 'null'
  } catch {
    return longJsonText(value)
  }
}

/** The same for what is too deep, or holds a bigint. */
function longJsonText(value: unknown): string {
  const parts: string[] = []
  /** What is still to be written, the next one last: text as it is, or a value in a tuple. */
  const left: (string | readonly [unknown])[] = [[value]]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (typeof next === 'string') parts.push(next)
    else if (typeof next[0] === 'object' && next[0] !== null) {
      for (const piece of piecesOf(next[0]).reverse()) left.push(piece)
    } else parts.push(typeof next[0] === 'bigint' ? String(next[0]) : (JSON.stringify(next[0]) ?? 'null'))
  }
  return parts.join('')
}

function piecesOf(value: object): (string | readonly [unknown])[] {
  const pieces: (string | readonly [unknown])[] = [Array.isArray(value) ? '[' : '{']
  for (const [index, [name, inner]] of Object.entries<unknown>({ ...value }).entries()) {
    if (index > 0) pieces.push(',')
    if (!Array.isArray(value)) pieces.push(`${JSON.stringify(name)}:`)
    pieces.push([inner])
  }
  pieces.push(Array.isArray(value) ? ']' : '}')
  return pieces
}

/** Whether two JSON values are equal, whatever the order of names and however deep they are. */
export function isSameJson(a: unknown, b: unknown): boolean {
  const left: (readonly [unknown, unknown])[] = [[a, b]]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [one, other] = next
    if (one === other) continue
    if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
    const names = Object.keys(one)
    if (Array.isArray(one) !== Array.isArray(other) || names.length !== Object.keys(other).length) return false
    for (const name of names) {
      if (!Object.hasOwn(other, name)) return false
      left.push([Reflect.get(one, name), Reflect.get(other, name)])
    }
  }
  return true
}
