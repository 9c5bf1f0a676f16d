/** Standard error, shared by log lines, remarks and a progress display that redraws itself. */
export interface Terminal {
  /** Whole lines, line feed included. */
  readonly write: (text: string) => void
  /** Hands what is written to `writer` instead, until the returned function is called. */
  readonly divert: (writer: (text: string) => void) => () => void
}

/** `writeOut` gets what is not diverted. */
export function createTerminal(writeOut: (text: string) => void): Terminal {
  let current = writeOut
  return {
    write: (text) => current(text),
    divert: (writer) => {
      current = writer
      return () => {
        current = writeOut
      }
    },
  }
}
