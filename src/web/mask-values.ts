/**
 * A message without the values that it quotes, for a page that shows nobody's data: what stands in quotes and long numbers
 * become `…`. A number that follows the word channel stays.
 */
export function maskValues(message: string): string {
  return message
    .replaceAll(/"(?:[^"\\]|\\.)*("|$)/gs, '…')
    .replaceAll(/(channel[ =])?\d{5,}/g, (number, channel?: string) => (channel === undefined ? '…' : number))
}
