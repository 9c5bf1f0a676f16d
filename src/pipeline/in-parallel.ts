/**
 * Keeps `limit` tasks going until `take` has none left and all have ended; a task may make more. After a task has failed none
 * is begun; when all have ended, its error is thrown.
 */
export async function inParallel(limit: number, take: () => (() => Promise<void>) | undefined): Promise<void> {
  const running = new Set<Promise<void>>()
  const errors: unknown[] = []
  for (;;) {
    const task = running.size < limit && errors.length === 0 ? take() : undefined
    if (task) {
      const run: Promise<void> = task()
        .catch((error: unknown) => void errors.push(error))
        .finally(() => running.delete(run))
      running.add(run)
    } else if (running.size === 0) break
    else await Promise.race(running)
  }
  if (errors.length > 0) throw errors[0]
}
