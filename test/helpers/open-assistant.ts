import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'

const launcher = fileURLToPath(new URL('../../bin/livehouse.cjs', import.meta.url))

/** Starts `livehouse mcp` as an assistant does, and connects to it. */
export async function openAssistant(environment: Readonly<Record<string, string>>, flags: readonly string[] = []) {
  const args = [launcher, 'mcp', ...flags]
  const transport = new StdioClientTransport({ command: process.execPath, args, env: environment, stderr: 'pipe' })
  let output = ''
  transport.stderr?.on('data', (chunk: Buffer) => void (output += String(chunk)))
  const client = new Client({ name: 'livehouse-test', version: '1.0.0' })
  await client.connect(transport).catch((error: unknown) => {
    throw new Error(`livehouse mcp did not start:\n${output}`, { cause: error })
  })
  const call = async (tool: string, parameters: Readonly<Record<string, unknown>> = {}) => {
    const { isError = false, content } = await client.callTool({ name: tool, arguments: parameters })
    const [part] = content
    return { isError, text: part?.type === 'text' ? part.text : '' }
  }
  return {
    client,
    call,
    /** Runs a query. @returns its rows @throws if it is refused */
    rows: async (sql: string): Promise<readonly (readonly unknown[])[]> => {
      const { isError, text } = await call('query', { sql })
      if (isError) throw new Error(text)
      return JSON.parse(text).rows
    },
    [Symbol.asyncDispose]: async () => await client.close(),
  }
}
