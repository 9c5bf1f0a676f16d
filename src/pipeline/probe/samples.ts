import type { Page } from '../../core/page.ts'
import type { Questioner } from './questioner.ts'

/** Rows of one list of one channel, with what was asked for them. */
export interface Sample<List> {
  readonly list: List
  /** Its page 1, of the largest size; undefined where none came. */
  readonly page: Page | undefined
  /** What came, or why nothing did: half a sentence. */
  readonly evidence: string
}

type RecordList = { readonly endpoint: 'userRecordList'; readonly channelId: string; readonly filterWatchTime: 0 }
type GiftList = { readonly endpoint: 'giftRunning'; readonly channelId: string; readonly type: 'cash' | 'prop' }
type SignupList = { readonly endpoint: 'signupRecord'; readonly channelId: string; readonly questionId: string }
type AnyList = RecordList | GiftList | SignupList

/** So many channels are tried for rows. */
const MOST_CHANNELS = 3
const MOST_QUESTIONS = 3
/** With fewer gifts the other type is looked at too. */
const FEW_GIFTS = 10

/** Page 1 of the watch records of the first channels, until one has some; of the first one where none has. */
export async function sampleRecords(
  { ask }: Pick<Questioner, 'ask'>,
  channels: readonly string[],
): Promise<Sample<RecordList> | undefined> {
  let first: Sample<RecordList> | undefined
  for (const channelId of channels.slice(0, MOST_CHANNELS)) {
    const list: RecordList = { endpoint: 'userRecordList', channelId, filterWatchTime: 0 }
    const found = await sample({ ask }, list, 100)
    if (hasRows(found)) return found
    first ??= found
  }
  return first
}

/** Page 1 of the cash gifts of a channel; of its props, where these are more. */
export async function sampleGifts({ ask }: Pick<Questioner, 'ask'>, channelId: string): Promise<Sample<GiftList>> {
  const cash = await sample({ ask }, { endpoint: 'giftRunning', channelId, type: 'cash' } as const, 100)
  if (sizeOf(cash) >= FEW_GIFTS) return cash
  const prop = await sample({ ask }, { endpoint: 'giftRunning', channelId, type: 'prop' } as const, 100)
  return sizeOf(prop) > sizeOf(cash) ? prop : cash
}

/** Page 1 of the signups of the first questionnaires, until one has some; undefined without any questionnaire. */
export async function sampleSignups(
  { ask }: Pick<Questioner, 'ask'>,
  channelId: string,
  questionIds: readonly string[],
): Promise<Sample<SignupList> | undefined> {
  let first: Sample<SignupList> | undefined
  for (const questionId of questionIds.slice(0, MOST_QUESTIONS)) {
    const found = await sample({ ask }, { endpoint: 'signupRecord', channelId, questionId } as const, 50)
    if (hasRows(found)) return found
    first ??= found
  }
  return first
}

async function sample<List extends AnyList>(
  { ask }: Pick<Questioner, 'ask'>,
  list: List,
  pageSize: number,
): Promise<Sample<List>> {
  const reply = await ask({ list, pageSize })
  if (reply.kind !== 'page') return { list, page: undefined, evidence: reply.reason }
  const { items, total } = reply.page
  const all = total === undefined ? '' : ` of ${total.toLocaleString('en-US')}`
  return { list, page: reply.page, evidence: `channel ${list.channelId}: page 1 held ${items.length}${all} rows` }
}

/** Whether anything came to look at. */
export function hasRows(sample: Sample<AnyList> | undefined): boolean {
  return sizeOf(sample) > 0
}

function sizeOf(sample: Sample<AnyList> | undefined): number {
  return sample?.page?.items.length ?? 0
}
