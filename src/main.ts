/** The program: reads the arguments, runs one verb, sets the exit code. */
export async function main(): Promise<void> {
  process.exitCode = 2
}
