export type Terminal = ReturnType<typeof createTerminal>

/** Standard error, shared by log lines, remarks and a progress display that redraws itself. */
export function createTerminal(writeOut: (text: string) => void) {
  let current = writeOut
  return {
    /** Whole lines, line feed included. */
    write: (text: string): void => current(text),
    /** Hands what is written to `writer` instead, until the returned function is called. */
    divert: (writer: (text: string) => void) => {
      current = writer
      return (): void => {
        current = writeOut
      }
    },
  }
}
