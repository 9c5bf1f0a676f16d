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
