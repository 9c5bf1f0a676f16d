import type { WallTime } from '../../core/wall-clock.ts'
import { choosePersonName, choosePhone } from './names.ts'
import type { Random } from './random.ts'
import { createRowList } from './row-list.ts'
import type { Questionnaire, Signup, Visitor } from './world.ts'

const PLAIN_QUESTIONS = ['公司', '职位', '您从哪里得知本次活动？', '感兴趣的话题'] as const

/** What operators do type: duplicates, quotes, line breaks, nothing at all, the name of a fixed column. */
const ODD_QUESTIONS = [
  '公司',
  '公司',
  '手机号',
  '您的"期望"是？\n（可多选）',
  '',
  "意见、建议, 或'吐槽'",
  '长'.repeat(200),
] as const

const CHOICES = ['早起的鸟儿有虫吃', '国破山河在', '其他：“自己填”'] as const

const ANSWERS = [
  '示例科技有限公司',
  '工程师',
  '朋友推荐',
  '人工智能 🤖',
  'a,b;"c"',
  '第一行\n第二行',
  '没有||意见',
  '＂全角＂',
] as const

/** A signup form before the watch page, a survey on it, and a form without signups; every fifth channel has none. */
export function createQuestionnaires(
  random: Random,
  channelIndex: number,
  visitors: readonly Visitor[],
  from: WallTime,
  to: WallTime,
): Questionnaire[] {
  if (channelIndex % 5 === 4) return []
  const createSignup = (visitor: Visitor, questions: readonly string[]): Signup => ({
    userId: visitor.userId,
    nick: random.chance(0.5) ? visitor.nick : choosePersonName(random),
    phone: visitor.phone || choosePhone(random),
    answers: questions.map(() => chooseAnswer(random)),
    signedUpAt: Math.max(from, Math.min(to - 1, visitor.firstLoginAt - random.between(-60, 7200))),
  })
  /** Signs up this share of the visitors, a few of them twice, with equal or different answers. */
  const createSignups = (questions: readonly string[], share: number): Signup[] => {
    const signups = visitors.flatMap((visitor) => {
      if (!random.chance(share)) return []
      const signup = createSignup(visitor, questions)
      const again = random.chance(0.02) ? [{ ...signup }] : []
      if (random.chance(0.02)) again.push({ ...signup, answers: questions.map(() => chooseAnswer(random)) })
      return [signup, ...again]
    })
    return signups.sort((a, b) => a.signedUpAt - b.signedUpAt)
  }
  const create = (name: string, position: 0 | 1, questions: readonly string[], share: number): Questionnaire => ({
    questionId: random.hash(8),
    name,
    position,
    isOpen: random.chance(0.8),
    createdAt: random.between(from, Math.floor((from + to) / 2)),
    questions,
    signups: createRowList(createSignups(questions, share)),
  })
  return [
    create('报名表', 1, channelIndex % 2 === 0 ? ODD_QUESTIONS : PLAIN_QUESTIONS, 0.2),
    create('满意度调查 ⭐', 0, PLAIN_QUESTIONS, 0.05),
    create('', 0, ['备用问题'], 0),
  ]
}

/** Free text, nothing, or several choices, joined as the service joins them. */
function chooseAnswer(random: Random): string {
  if (random.chance(0.2)) return ''
  if (random.chance(0.3)) return CHOICES.slice(0, random.between(1, CHOICES.length)).join('||')
  return random.pick(ANSWERS)
}
