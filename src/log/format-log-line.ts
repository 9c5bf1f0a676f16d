/** A JSON log line as a short line for people: time of day, level, event, facts. */
export function formatLogLine(json: string): string {
  const line: unknown = JSON.parse(json)
  const { time, level, event, err, ...facts } = Object.fromEntries(Object.entries(Object(line)))
  const pairs = Object.entries(facts).map(([name, value]) => `${name}=${show(value)}`)
  const head = [String(time).slice(11, 19), String(level).padEnd(5), String(event), ...pairs].join(' ')
  return `${[head, ...errorLines(err)].join('\n')}\n`
}

/** An error and its causes, indented: ours by their message, which says all, others with their stack. */
function errorLines(error: unknown): string[] {
  if (error === undefined || error === null) return []
  const { name, stack, message, cause } = Object.fromEntries(Object.entries(Object(error)))
  const text =
    typeof stack === 'string' && name !== 'LivehouseError' ? stack : typeof message === 'string' ? message : show(error)
  return [...text.split('\n').map((line) => `    ${line}`), ...(cause === undefined ? [] : ['    because of'])].concat(
    errorLines(cause),
  )
}

function show(value: unknown): string {
  return typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value)
}
