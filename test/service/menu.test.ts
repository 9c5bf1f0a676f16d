import { describe, expect, test } from 'vitest'
import { connectClient, errorOf, saveMenu } from '../helpers/connect-client.ts'
import { startScriptedService } from '../helpers/scripted-service.ts'

describe('saving', () => {
  test('adding posts the fields of the spec, and is never repeated', async () => {
    await using service = await startScriptedService(() => ({ status: 502, text: '' }))
    await using connection = connectClient(service.url)
    const menu = { name: '回放', type: 3, richText: '<p>', vids: [1, 2] }
    await errorOf(saveMenu(connection, '9', undefined, menu))
    expect(service.requests).toMatchObject([
      {
        method: 'POST',
        path: '/v1/activities/9/saveMenu',
        body: { name: '回放', type: 3, rich_text: '<p>', videos: [{ vid: 1 }, { vid: 2 }] },
      },
    ])
  })

  test('changing puts to the menu, and may be repeated', async () => {
    await using service = await startScriptedService((_request, index) =>
      index === 0 ? { status: 502, text: '' } : { json: { menu_id: 1234, result: 'success' } },
    )
    await using connection = connectClient(service.url)
    const saved = await saveMenu(connection, '9', 1234, { name: '互动' })
    expect(saved).toEqual({ menuId: 1234, result: 'success' })
    expect(service.requests).toHaveLength(2)
    expect(service.requests[1]).toMatchObject({
      method: 'PUT',
      path: '/v1/activities/9/saveMenu/1234',
      body: { name: '互动' },
    })
  })
})
