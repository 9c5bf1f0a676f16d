import { expect, test } from 'vitest'
import { disguiseBody, parseAsWritten } from '../../../src/cli/capture/disguise-body.ts'

/** What of a body would be disguised is shown as X. */
function shown(json: string): string {
  return JSON.stringify(
    disguiseBody(parseAsWritten(json), (value) => (/^\d+$/.test(value) ? '9'.repeat(value.length) : 'X')),
  )
}

test.each([
  // Numbers are written as they came, ids by their number of digits.
  ['{"record_id":9007199254740993,"id":10001589}', '{"record_id":9999999999999999,"id":99999999}'],
  [
    '{"total_num":"12","p":1,"perPage":"20","money":"0.10","x":0.10}',
    '{"total_num":"12","p":1,"perPage":"20","money":"0.10","x":9.99}',
  ],
  [
    '{"status":true,"outer_id":null,"assign_id":"","flag_x":1}',
    '{"status":true,"outer_id":null,"assign_id":"","flag_x":1}',
  ],
  // Times and durations, also odd ones, but not what stands in their place.
  [
    '{"first_login_time":"2026-11-20 14:03","watch_time":"125:03:09","uptime":"0000-00-00 00:00:00"}',
    '{"first_login_time":"2026-11-20 14:03","watch_time":"125:03:09","uptime":"0000-00-00 00:00:00"}',
  ],
  [
    '{"created_at":"2026-11-20T14:03:00+08:00","last_login_time":""}',
    '{"created_at":"2026-11-20T14:03:00+08:00","last_login_time":""}',
  ],
  [
    '{"first_login_time":"王伟","watch_time":"13812345678","money":"王伟"}',
    '{"first_login_time":"X","watch_time":"99999999999","money":"X"}',
  ],
  // Kinds, but not what is too long to be one.
  ['{"device":"移动端","browser":"微信"}', '{"device":"移动端","browser":"微信"}'],
  [`{"browser":"${'Mozilla '.repeat(9)}"}`, '{"browser":"X"}'],
  // What nobody knows is somebody's.
  ['{"email":"a@b.cn","deep":[{"tags":["vip"]}],"王伟":1}', '{"email":"X","deep":[{"tags":["X"]}],"X":1}'],
  ['{"results":[{"wang_wei":{"wang_wei":1},"u13800138000":1}]}', '{"results":[{"wang_wei":{"X":1},"X":1}]}'],
  // The words and numbers of the answer itself stand in an item for anything.
  [
    '{"errcode":1000,"msg":"ok","results":[{"msg":"hi","message":"hi","code":10001589,"size":12}]}',
    '{"errcode":1000,"msg":"ok","results":[{"msg":"X","message":"X","code":99999999,"size":99}]}',
  ],
  // The service's own words stay, the ids in them do not.
  [
    '{"errors":{"code":404002,"message":"No such activity 10001589"}}',
    '{"errors":{"code":404002,"message":"No such activity 99999999"}}',
  ],
  // A signup: the fixed headers and its time stay.
  [
    '{"title":["用户ID","昵称","手机号","公司","报名时间"],"data":[["u1","王伟","","1990-05-01","2026-11-20 14:03:09"]]}',
    '{"title":["用户ID","昵称","手机号","X","报名时间"],"data":[["X","X","","X","2026-11-20 14:03:09"]]}',
  ],
  // Only where the interface has them do headers and times of signups stay.
  [
    '{"results":[{"title":["王伟","13800138000","x"],"birthdays":["1990-01-02"]}]}',
    '{"results":[{"title":["X","99999999999","X"],"birthdays":["X"]}]}',
  ],
  ['{"title":["用户ID","13800138000","昵称"]}', '{"title":["用户ID","99999999999","昵称"]}'],
  ['{"at":[116.397128,39.916527]}', '{"at":[999.999999,99.999999]}'],
  ['["王伟",12]', '["X",99]'],
  ['"王伟"', '"X"'],
])('%s', (given, expected) => {
  expect(shown(given)).toBe(expected)
})
