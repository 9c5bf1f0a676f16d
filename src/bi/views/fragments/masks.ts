import { type BiColumn, maskedOnRequest, type PersonalData } from '../../view.ts'
import { city, province } from './places.ts'

/** Shown in place of a text of which nothing may be shown. */
export const HIDDEN = '***'

const hasClearRole = `pg_has_role(to_regrole('livehouse_pii')::oid, 'usage') is true`

/**
 * Whether the reader sees this kind of data unmasked: the settings do not mask it, or the reader has `livehouse_pii`.
 * Evaluated once a query, as the view's owner; NULL without settings, so that everything is masked.
 */
function isUnmasked(kind: PersonalData): string {
  return `(select not '${kind}' = any (s.masked) or ${hasClearRole} from livehouse_ops.bi_settings s)`
}

/** HMAC-SHA256 with the key of this database, cut to 128 bits. Equal values stay equal, so they join and count. */
export function hash(sql: string): string {
  const pad = (which: string) => `(select k.${which}_pad from livehouse_ops.hash_key k)`
  return `left(encode(sha256(${pad('outer')} || sha256(${pad('inner')} || convert_to(${sql}, 'UTF8'))), 'hex'), 32)`
}

/** The mask of each kind. Only built-in functions whose errors cannot contain the value. */
export const maskOf: Readonly<Record<PersonalData, (sql: string) => string>> = {
  phone: (sql) =>
    `case when ${sql} ~ '^[+]?[0-9]{11,15}$' then left(${sql}, -8) || '****' || right(${sql}, 4)
      when ${sql} is not null then '****' end`,
  ip: (sql) => `network(set_masklen(${sql}, case family(${sql}) when 4 then 24 else 48 end))::inet`,
  open_id: hash,
  nickname: (sql) => `left(${sql}, 1) || '**'`,
  address: (sql) =>
    `case when ${sql} is null then null when ${province(sql)} is null then '${HIDDEN}' ` +
    `else ${province(sql)} || coalesce(nullif(${city(sql)}, ${province(sql)}), '') end`,
  answers: (sql) => `case when ${sql} is not null then '${HIDDEN}' end`,
  assign_id: hash,
  outer_id: hash,
  access_source: hash,
  username: (sql) => `left(${sql}, 1) || '**'`,
}

/** Masks a value for readers who may not see it. @param unless a condition under which everybody sees it */
export function mask(kind: PersonalData, sql: string, unless?: string): string {
  const condition = unless === undefined ? isUnmasked(kind) : `${unless} or ${isUnmasked(kind)}`
  return `case when ${condition} then ${sql} else ${maskOf[kind](sql)} end`
}

/** Makes a column of personal data, masked for readers who may not see it. */
export function personalColumn(kind: PersonalData, { type, sql, words }: BiColumn): BiColumn {
  const staysClear = maskedOnRequest.some((each) => each === kind)
  const maskedWords = {
    en: `${words.en}; masked unless the reader has the role livehouse_pii`,
    zh: `${words.zh}；没有 livehouse_pii 角色时脱敏`,
  }
  return { type, sql: mask(kind, sql), personal: kind, words: staysClear ? words : maskedWords }
}

/**
 * Cuts a link at the first `?`, `#`, `&`, `;` or `=`, also full-width, percent-encoded or escaped, as what follows may
 * hold the answers of a form. NULL if nothing is left.
 */
export function bareLink(sql: string): string {
  return `nullif(regexp_replace(${sql}, E'([?#&;=？＃＆；＝\\\\\\\\]|%(u|25|3f|23|26|3b|3d|5c|ef%bc%)).*$', '', 'i'), '')`
}

/** Makes a column of the link by which a viewer came: without `livehouse_pii` it is cut, even where links are clear. */
export function linkColumn({ type, sql, words: { en, zh } }: BiColumn): BiColumn {
  const isClear = `(select ${hasClearRole} from livehouse_ops.bi_settings s)`
  const unmaskedSql = `case when ${isClear} then ${sql} else ${bareLink(sql)} end`
  const words = {
    en: `${en}; without its query string unless the reader has the role livehouse_pii`,
    zh: `${zh}；没有 livehouse_pii 角色时不含查询参数`,
  }
  const maskedSql = `case when ${isUnmasked('access_source')} then ${unmaskedSql} else ${hash(bareLink(sql))} end`
  return { type, sql: maskedSql, words, personal: 'access_source' }
}
