import { Agent, Dispatcher, EnvHttpProxyAgent } from 'undici'
import { expect, test } from 'vitest'
import { createAgent } from '../../src/service/agent.ts'

test("is undici's own, with its methods, although the whole of undici is not loaded", async () => {
  const agent = createAgent({ httpProxy: '', httpsProxy: '', noProxy: '' })
  try {
    expect(agent).toBeInstanceOf(EnvHttpProxyAgent)
    expect(agent).toBeInstanceOf(Dispatcher)
    expect(Reflect.get(agent, 'request')).toBe(Reflect.get(Agent.prototype, 'request'))
  } finally {
    await agent.destroy()
  }
})
