/** Whether the server ended a statement because two transactions waited for each other (SQLSTATE 40P01, appendix A). */
export function isDeadlock(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '40P01'
}
