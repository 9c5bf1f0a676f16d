import { describe, expect, test } from 'vitest'
import { type MenuRequest, menuCall } from '../../src/service/menu.ts'
import { hasCode } from '../../src/core/errors.ts'
import { connectClient, errorOf, saveMenu } from '../helpers/connect-client.ts'
import { startScriptedService } from '../helpers/scripted-service.ts'

function brokenRule(menu: MenuRequest, menuId?: number): string | undefined {
  try {
    menuCall('9', menuId, menu)
  } catch (error) {
    if (hasCode(error, 'api.invalidRequest')) return error.details.rule
    throw error
  }
  return undefined
}

describe('what is checked before it is sent', () => {
  test.each<[string, MenuRequest, RegExp]>([
    ['5 Chinese characters', { name: '精彩回放吧' }, /^name has at most 4 Chinese or 8 narrow/],
    ['9 letters', { name: 'abcdefghi' }, /^name has at most/],
    ['4 Chinese characters and a letter', { name: '精彩回放a' }, /^name has at most/],
    ['an empty name', { name: ' ' }, /^name must not be empty/],
    ['type 5', { type: 5 }, /^type is 1/],
    ['type 1.5', { type: 1.5 }, /^type is 1/],
    ['a vid with a fraction', { vids: [1, 2.5] }, /^each vid is the integer id/],
    ['a vid that is no number', { vids: [Number.NaN] }, /^each vid/],
    ['a vid of 0', { vids: [0] }, /^each vid/],
  ])('%s', (_case, menu, rule) => {
    expect(brokenRule(menu)).toMatch(rule)
  })
})

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
