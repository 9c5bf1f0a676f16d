import { type BaseTable, bigint, bytes, instant, text, texts } from '../base-table.ts'

/** What the views of livehouse_bi rest on beside the records. */
export const analystTables: Readonly<Record<string, BaseTable>> = {
  'livehouse_ops.gift_labels': {
    words: { en: 'What operators call the gifts', zh: '运营者对礼物的称呼' },
    key: ['gift_type', 'gift_id'],
    columns: {
      gift_type: text('cash or prop', 'cash（现金）或 prop（道具）'),
      gift_id: bigint('Prop id', '道具 ID'),
      label: text('What the operator calls the gift', '运营者对礼物的称呼'),
      gift_group: text('The group that the operator puts the gift in', '运营者给礼物的分组'),
    },
  },
  'livehouse_ops.cleared_questions': {
    words: { en: 'Questions whose answers every analyst may see', zh: '答案对所有分析师公开的题目' },
    key: ['channel_id', 'question_id', 'question'],
    columns: {
      channel_id: text('Channel id', '频道 ID'),
      question_id: text('Questionnaire hash id', '问卷 ID'),
      question: text(
        'Header of the question; empty where it has none. With another header it is another question',
        '题目；没有题目时为空。题目改变即为另一题',
      ),
      cleared_at: instant('When it was cleared', '公开时间'),
    },
  },
  'livehouse_ops.published_forms': {
    words: {
      en: 'Questionnaires that have a view of their own in livehouse_forms (livehouse forms publish)',
      zh: '在 livehouse_forms 中有自己视图的问卷（livehouse forms publish）',
    },
    key: ['channel_id', 'question_id'],
    columns: {
      channel_id: text('Channel id', '频道 ID'),
      question_id: text('Questionnaire hash id', '问卷 ID'),
      view_name: text('Name of its view in livehouse_forms', '其在 livehouse_forms 中的视图名'),
      fingerprint: text('Of the view as it was last made; NULL before that', '最近一次生成的视图的指纹；此前为 NULL'),
    },
  },
  'livehouse_ops.bi_settings': {
    words: {
      en: 'What the views of livehouse_bi show, and how they were made: one row',
      zh: 'livehouse_bi 各视图显示什么、如何生成：仅一行',
    },
    key: [],
    columns: {
      currency: text(
        'Currency of gifts (LIVEHOUSE_CURRENCY); NULL while nobody has named it',
        '礼物币种（LIVEHOUSE_CURRENCY）；未指定时为 NULL',
      ),
      masked: texts(
        'Kinds of personal data that are masked (LIVEHOUSE_MASK)',
        '需脱敏的个人信息种类（LIVEHOUSE_MASK）',
      ),
      language: text('Language of the comments in livehouse_bi', 'livehouse_bi 注释的语言'),
      fingerprint: text(
        'Of the views as they were last made; NULL before that',
        '最近一次生成的视图的指纹；此前为 NULL',
      ),
      time_zone: text('Zone that the views were made for; NULL before that', '生成视图时所用的时区；此前为 NULL'),
      views: texts(
        'Names of the views that livehouse made in livehouse_bi',
        'livehouse 在 livehouse_bi 中生成的视图名',
      ),
    },
  },
  'livehouse_ops.hash_key': {
    words: {
      en: 'The key of the hashes in livehouse_bi (HMAC-SHA256): one row; who reads it can find out what was hashed',
      zh: 'livehouse_bi 中散列所用的密钥（HMAC-SHA256）：仅一行；能读取者可推出被散列的内容',
    },
    key: [],
    columns: {
      inner_pad: bytes('The key, XOR 0x36', '密钥，异或 0x36'),
      outer_pad: bytes('The key, XOR 0x5c', '密钥，异或 0x5c'),
    },
  },
}
