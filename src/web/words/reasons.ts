/** Translations of the masked reasons of rows in quarantine, which are stored in English; the first match wins. */
const inChinese: readonly (readonly [RegExp, string])[] = [
  [/^the item is (.+?)(, not an object)?$/s, '该项是 $1，不是对象'],
  [/^the row is (.+?)(, not an array of cells)?$/s, '该行是 $1，不是单元格数组'],
  [/^the row has (\d+) cells under (\d+) headers$/, '该行有 $1 个单元格，表头有 $2 个'],
  [/^duplicate: (\S+) came (\d+) times .*$/, '重复：列表未变动，同一个 $1 出现了 $2 次且内容不同；保留最新的一次'],
  [/^conflict: .* this (\S+) with another (\S+)(?: and (\S+))?$/, '冲突：v2 中这个 $1 的内容不同：$2 $3'],
  [/^(\S+) is (.+), and the visitors of channel (.+) were asked for$/s, '$1 是 $2，而请求的是频道 $3 的访客'],
  [/^(\S+) lies far outside of the requested range$/, '$1 远在所请求的时间范围之外'],
  [/^(\S+) is missing, and a row needs it$/, '缺少 $1，没有它就不能成行'],
  [/^(\S+) is (.+?)(, and a row needs it)?$/s, '$1 是 $2，没有它就不能成行'],
]

/** Translates a masked reason; undefined if it is not known. */
export function reasonInChinese(reason: string): string | undefined {
  const [pattern, words] = inChinese.find(([each]) => each.test(reason)) ?? []
  return pattern && words && reason.replace(pattern, words)
}

/** What error codes and messages mean, in a few words of Chinese; the first match wins. */
const causes: readonly (readonly [RegExp, string])[] = [
  [/^reading took longer than /, '没有及时读完'],
  [/^(usage|config|api)\.invalid/, '设置或用法有误'],
  [/^api\.unreachable|: no connection to /, '连接不上服务'],
  [/^api\.timeout|: no complete answer within /, '服务没有按时回答'],
  [/^api\.budgetSpent/, '当日的调用次数已用完'],
  [/^api\.ba|^api\.bodyRefused|: \d+ with |: the answer is |: the body was cut/, '服务的回答无法读取'],
  [/^api\.noToken/, '没有取得访问令牌，令牌服务可能有故障'],
  [/^api\.(unauthorized|forbidden|credentials|wrongAuthUrl)|: (401|403(?! \(an HTML))\b/, '凭据未被接受，或没有权限'],
  [/^api\.rateLimited|: 429\b/, '服务限制了调用次数'],
  [/^api\.channelUnknown|does not know this channel/, '服务不认识该频道'],
  [/^api\.|: \d{3}\b|: the service refuses /, '服务返回错误'],
  [/^paging\.|: the service (ignores|filters)|: the list has no end/, '分页或时间条件不起作用'],
  [/^rows\.|rows could not be read/, '太多行无法读取，已放入隔离区'],
  [/^interface\.|: none of \d+ items has /, '字段已消失，接口可能变了：未写入'],
  [/did not come to rest/, '读取时一直有变动：未写入'],
  [/^slice\.short|rows came/, '读到的行数不足'],
  [/^audit\./, '仓库与服务的总数不一致'],
  [/^(slice\.locked|job\.running|lease\.)|another run has held it|is no longer held by/, '正由另一个进程处理'],
  [/^job\.|no worker could finish it|no worker got to its end|its job was cancelled/, '没有进程将它读完'],
  [/^db\./, '数据库连接不上，或不能使用'],
  [/^run\.interrupted/, '运行被中断'],
  [/^internal/, '程序内部错误'],
]

/** Says in a few words of Chinese what went wrong, by its code or else its message; undefined if neither is known. */
export function causeInChinese(code: string, message = ''): string | undefined {
  const find = (text: string) => causes.find(([each]) => each.test(text))?.[1]
  return code === 'internal' ? (find(message) ?? find(code)) : (find(code) ?? find(message))
}
