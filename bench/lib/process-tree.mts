import { readdir, readFile } from 'node:fs/promises'

/** Linux reports CPU time in hundredths of a second, whatever the kernel's own tick is. */
const TICK_US = 10_000

/**
 * Reads the CPU time of a process and its descendants, including reaped children, to a hundredth of a second.
 * @returns undefined if there is no /proc
 */
export async function readTreeCpuUs(root: number): Promise<number | undefined> {
  const stats = await readStats()
  if (stats === undefined) return undefined
  const sum = (pid: number): number => {
    const own = stats.get(pid)
    if (own === undefined) return 0
    const children = [...stats].filter(([, { parent }]) => parent === pid).map(([child]) => sum(child))
    return own.ticks + children.reduce((total, ticks) => total + ticks, 0)
  }
  return sum(root) * TICK_US
}

interface Stat {
  readonly parent: number
  readonly ticks: number
}

async function readStats(): Promise<ReadonlyMap<number, Stat> | undefined> {
  const entries = await readdir('/proc').catch(() => undefined)
  if (entries === undefined) return undefined
  const stats = new Map<number, Stat>()
  for (const pid of entries.filter((entry) => /^\d+$/.test(entry))) {
    const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
    if (text === undefined) continue
    // The name, in parentheses, may contain anything. Fields 14 to 17: utime, stime, cutime, cstime (proc_pid_stat(5)).
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const ticks = fields.slice(11, 15).reduce((total, field) => total + Number(field), 0)
    stats.set(Number(pid), { parent: Number(fields[1]), ticks })
  }
  return stats
}
