import type { Finding } from '../verdict.ts'
import type { Sentences } from './sentences-en.ts'
import type { Formats } from '../formats.ts'

/** The sentences of the page in simplified Chinese. */
export const chinese: Sentences = {
  languageName: '中文',
  title: 'livehouse',
  skip: '跳到正文',
  pages: { label: '页面', overview: '总览', channels: '频道' },
  switchLanguage: '语言',
  asOf: (time) => `数据截至 ${time}。`,
  zone: (timeZone) => `时间均为 ${timeZone} 时区。`,
  never: '从未',
  ago: (span) => `${span}前`,
  ahead: (span) => `${span}后`,
  notKnown: '–',
  about: (number) => `约 ${number}`,
  verdict: {
    complete: '昨晚的数据已完整',
    incomplete: '昨晚的数据不完整',
    first: '首次同步正在进行',
    empty: '尚未运行过',
    unreachable: '无法读取数据库',
    completeText: (streams, channels, { number }) =>
      `${number(channels)} 个频道的 ${number(streams)} 类数据均已读取且是最新的；凡服务给出总数的，都已逐一核对。`,
    incompleteText: '已入库的数据是正确的，缺少的是：',
    firstText: '先读取最近几天，再补历史数据。',
    emptyText: '运行 livehouse sync，或等待下一个定时任务。',
    unreachableText: (time) => `以下内容截至 ${time}。数据库恢复后页面会自动恢复。`,
    unreachableAtAll: '尚未从数据库读到任何内容。数据库恢复后页面会自动恢复。',
    unreachablePart: '未能读取此页面的内容。数据库恢复后页面会自动恢复。',
    runningText: '有任务正在运行。',
    moreFindings: (count, { number }) => `……另有 ${number(count)} 项`,
    finding,
  },
  figures: {
    label: '关键数字',
    completeUntil: '完整截至',
    channels: '使用中的频道',
    rows: '仓库中的行数',
    lastRun: '最近一次运行',
    quarantine: '隔离区',
    budget: '今日 v1 剩余调用',
    budgetLeft: (left, all) => `${left} / ${all}`,
    goneChannels: (count) => `${count} 个在服务端已不存在`,
    nextRun: '下一个任务',
  },
  timeline: {
    legend: '图例',
    cell: (day, state, percent) => `${day}：${state}，已读 ${percent}`,
    summary: (complete, days) => `${days} 天中有 ${complete} 天完整`,
    marked: (state, days) => `${state}：${days}`,
    separators: { days: '、', states: '；' },
    today: '今天',
  },
  charts: {
    rows: '写入的行数',
    hours: '观看小时数',
    calls: '对服务的调用',
    recent: '本进程的调用（最近 24 小时）',
    inserted: '新增',
    updated: '更新',
    watched: '小时',
    madeOnce: '调用',
    repeated: '重试',
    answered: '已应答',
    refused: '被拒绝',
    failed: '失败',
    numbers: '数据表',
    tooSlow: '数据库统计耗时过长。',
  },
  progress: {
    title: (job) => `${job} 正在运行`,
    slices: (ended, all) => `分片 ${ended} / ${all}`,
    rows: (rows) => `${rows} 行`,
    ended: (count) => `已读分片 ${count}`,
    elsewhere: (command, run) => `${command}，运行 ${run}`,
  },
  filter: {
    search: '名称、标签或编号',
    group: '分组',
    state: '状态',
    all: '全部',
    onlyOpen: '只看有待解决问题的',
    apply: '显示',
    found: (count, all) => `${all} 个频道中的 ${count} 个`,
    previous: '上一页',
    next: '下一页',
    page: (page, pages) => `第 ${page} 页，共 ${pages} 页`,
    pagination: '列表分页',
  },
  open: {
    gap: '空缺',
    problem: '问题',
    accepted: '已确认',
    wholeList: '完整列表',
    unmarked: (marked, all) => `共 ${all} 处待解决，图中只标出最近的 ${marked} 处。`,
    more: (count) => `……另有 ${count} 处。`,
    askedFor: '下次同步会重新读取以下全部内容；观看记录（v1）除外：只有指明该流的同步或任务 v1-history 才会读取。',
  },
  run: { title: (runId) => `运行 ${runId}`, moreErrors: (count) => `……另有 ${count} 条，见运行记录。` },
  channel: {
    test: '测试频道',
    open: ({ problems, gaps, late }, { number }) => [
      ...(problems === 0 ? [] : [`${number(problems)} 处缺数据或失败`]),
      ...(gaps === 0 ? [] : [`${number(gaps)} 处空缺`]),
      ...(late === 0 ? [] : [`${number(late)} 类数据过期`]),
    ],
  },
  login: {
    title: '登录',
    text: '此页面受保护。请输入 LIVEHOUSE_HTTP_TOKEN 的值。',
    token: '令牌',
    enter: '登录',
    wrong: '令牌不正确。',
  },
  problems: {
    notFound: '没有这个页面。',
    back: '回到总览',
    broken: '页面生成失败，原因见日志。',
  },
  footer: { metrics: '监控指标', readOnly: '此页面只读。' },
}

function finding(found: Finding, stream: string, { number, wallTime }: Formats): string {
  const inChannels = (channels: number) => (channels === 0 ? '' : `（${number(channels)} 个频道）`)
  switch (found.kind) {
    case 'late':
      return found.since === null
        ? `${stream}：尚未读完${inChannels(found.channels)}。`
        : `${stream}：${wallTime(found.since)} 之后没有数据${inChannels(found.channels)}。`
    case 'unread':
      return `${stream}：${number(found.channels)} 个频道尚未读取。`
    case 'problem':
      return `${stream}：${number(found.partitions)} 个部分缺数据或失败。`
    case 'gap':
      return `${stream}：${number(found.gaps)} 处空缺${inChannels(found.channels)}。`
    case 'failedRun':
      return `最近一次运行 ${found.command}（运行 ${found.runId}）失败。`
  }
}
