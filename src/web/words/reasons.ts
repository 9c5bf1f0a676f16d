/** Reasons of rows in quarantine, which are kept in English, without values: in Chinese; the first that fits counts. */
const inChinese: readonly (readonly [RegExp, string])[] = [
  [/^the item is (.+?)(, not an object)?$/s, '该项是 $1，不是对象'],
  [/^the row is (.+?)(, not an array of cells)?$/s, '该行是 $1，不是单元格数组'],
  [/^the row has (\d+) cells under (\d+) headers$/, '该行有 $1 个单元格，表头有 $2 个'],
  [/^duplicate: (\S+) came (\d+) times .*$/, '重复：列表未变动，同一个 $1 出现了 $2 次且内容不同；保留最新的一次'],
  [/^conflict: .* this (\S+) with another (\S+)(?: and (\S+))?$/, '冲突：v2 中这个 $1 的内容不同：$2 $3'],
  [/^(\S+) is (.+), and the visitors of channel (.+) were asked for$/s, '$1 是 $2，而请求的是频道 $3 的访客'],
  [/^(\S+) is missing, and a row needs it$/, '缺少 $1，没有它就不能成行'],
  [/^(\S+) is (.+?)(, and a row needs it)?$/s, '$1 是 $2，没有它就不能成行'],
]

/** Such a reason in Chinese; undefined for one that is not known. */
export function reasonInChinese(reason: string): string | undefined {
  const [pattern, words] = inChinese.find(([each]) => each.test(reason)) ?? []
  return pattern && words && reason.replace(pattern, words)
}
