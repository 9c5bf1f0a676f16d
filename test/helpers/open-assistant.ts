import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { fileURLToPath } from 'node:url'

const launcher = fileURLToPath(new URL('../../bin/livehouse.cjs', import.meta.url))

/** An assistant that has started `livehouse mcp` and speaks with it. */
export async function openAssistant(environment: Readonly<Record<string, string>>, flags: readonly string[] = []) {
  const args = [launcher, 'mcp', ...flags]
  const transport = new StdioClientTransport({ command: process.execPath, args, env: environment, stderr: 'pipe' })
  let heard = ''
  transport.stderr?.on('data', (chunk: Buffer) => void (heard += String(chunk)))
  const client = new Client({ name: 'livehouse-test', version: '1.0.0' })
  await client.connect(transport).catch((error: unknown) => {
    throw new Error(`livehouse mcp has not started:\n${heard}`, { cause: error })
  })
  const call = async (tool: string, given: Readonly<Record<string, unknown>> = {}) => {
    const { isError = false, content } = await client.callTool({ name: tool, arguments: given })
    const [part] = content
    return { isError, text: part?.type === 'text' ? part.text : '' }
  }
  return {
    client,
    call,
    /** The rows of a query. @throws where it is refused */
    rows: async (sql: string): Promise<readonly (readonly unknown[])[]> => {
      const { isError, text } = await call('query', { sql })
      if (isError) throw new Error(text)
      return JSON.parse(text).rows
    },
    [Symbol.asyncDispose]: async () => await client.close(),
  }
}
