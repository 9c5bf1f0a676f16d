import { type BiColumns, bool, text } from '../../view.ts'
import { personKey, personOf, viewerKey } from './identity.ts'
import { city, province } from './places.ts'

export function channelId(sql: string): BiColumns {
  return { channel_id: text(sql, 'Channel id; joins dim_channel', '频道 ID，关联 dim_channel') }
}

/** Whether the row belongs to a test channel. The list of test channels is read once a query. */
export function isTest(channel: string): BiColumns {
  const tests = 'array(select t.channel_id from livehouse.channels t where t.is_test)'
  const sql = `coalesce(${channel} = any (${tests}), false)`
  return { is_test: bool(sql, 'Whether the operator marked the channel as a test', '是否为测试频道') }
}

/** The currency of amounts; needs `livehouse_ops.bi_settings s` in `from`. */
export const currency = text('s.currency', 'Currency of amounts (LIVEHOUSE_CURRENCY)', '币种（LIVEHOUSE_CURRENCY）')

/** The questionnaire of a row of the relation `alias`. */
export function questionnaireKey(alias: string): BiColumns {
  const key = `${alias}.channel_id || ':' || ${alias}.question_id`
  return { questionnaire_key: text(key, 'Questionnaire; joins dim_questionnaire', '问卷，关联 dim_questionnaire') }
}

/** Province and city, from an address. */
export function places(address: string): BiColumns {
  return {
    province: text(province(address), 'Province of the address; NULL if it has none', '地址中的省份，或 NULL'),
    city: text(city(address), 'City of the address; NULL if it has none', '地址中的城市，或 NULL'),
  }
}

function keys(viewer: string, person: string): BiColumns {
  return {
    viewer_key: text(
      viewer,
      'Viewer of this channel, channel_id:user_id; joins dim_viewer; NULL if unknown',
      '该频道的观众（channel_id:user_id），关联 dim_viewer；无法得知时为 NULL',
    ),
    person_key: text(person, 'Person; joins dim_person; NULL if unknown', '人，关联 dim_person；未知为 NULL'),
  }
}

/** The viewer and person of a record that names its viewer, or none. @param fact alias; needs `joinPerson` in `from` */
export function namedViewer(fact: string): BiColumns {
  const [channel, user] = [`${fact}.channel_id`, `${fact}.user_id`]
  return {
    ...keys(viewerKey(channel, user), `case when ${user} is not null then ${personOf(channel, user)} end`),
    match_basis: text(
      `case when ${user} is null then 'none' else 'viewer_id' end`,
      'How the viewer is identified: viewer_id (named by the record) or none',
      '观众的识别依据：viewer_id（记录自带观众 ID）或 none',
    ),
  }
}

/** The viewer and person of a record that may name a viewer or only a phone; needs `joinViewer` in `from`. */
export function matchedViewer(fact: string, id: string): BiColumns {
  const user = `coalesce(${fact}.${id}, by_phone.user_id)`
  const channel = `${fact}.channel_id`
  const person = `case when ${user} is not null then ${personOf(channel, user)} else ${personKey('somebody')} end`
  return {
    ...keys(viewerKey(channel, user), person),
    match_basis: text(
      `case when ${fact}.${id} is not null then 'viewer_id' when by_phone.user_id is not null then 'phone' ` +
        `when somebody.person is not null then 'phone_person' else 'none' end`,
      'How the viewer is identified: viewer_id (named by the record), phone (one viewer of the channel has this ' +
        'phone), phone_person (only the person: several viewers, or those of other channels, have this phone), none',
      '观众的识别依据：viewer_id（记录自带）、phone（该频道只有一位观众用此手机号）、phone_person（仅能确定到人）、none',
    ),
  }
}
