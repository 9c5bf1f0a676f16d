import type { BiView } from './view.ts'
import { dailyChannel, dailyGifts, dailySignups, newViewers } from './views/daily-channel.ts'
import { dimChannel } from './views/dim-channel.ts'
import { dimDate } from './views/dim-date.ts'
import { dimGift } from './views/dim-gift.ts'
import { dimPerson } from './views/dim-person.ts'
import { dimQuestionnaire } from './views/dim-questionnaire.ts'
import { dimViewer } from './views/dim-viewer.ts'
import { fctAudienceMinute } from './views/fct-audience-minute.ts'
import { fctBroadcast } from './views/fct-broadcast.ts'
import { fctBroadcastMinute } from './views/fct-broadcast-minute.ts'
import { fctBroadcastViewer } from './views/fct-broadcast-viewer.ts'
import { fctGift } from './views/fct-gift.ts'
import { fctManagerUsage } from './views/fct-manager-usage.ts'
import { fctSignup } from './views/fct-signup.ts'
import { fctSignupAnswer } from './views/fct-signup-answer.ts'
import { fctSignupChoice } from './views/fct-signup-choice.ts'
import { fctViewerDay } from './views/fct-viewer-day.ts'
import { fctWatch } from './views/fct-watch.ts'
import { unlistedViewers } from './views/fragments/identity.ts'
import { freshness } from './views/freshness.ts'
import { identityConflicts } from './views/identity-conflicts.ts'
import { reconciliation, viewerChecks } from './views/reconciliation.ts'
import { viewerCohortWeek, viewerReturns } from './views/viewer-cohort-week.ts'
import { funnelSteps, viewerFunnel, viewerFunnelMonth } from './views/viewer-funnel.ts'
import { viewerReturnMonth } from './views/viewer-return-month.ts'

/** Every view of `livehouse_bi`, each after those that it reads. */
export const biViews: readonly BiView[] = [
  dimChannel,
  dimViewer,
  dimPerson,
  dimDate,
  dimQuestionnaire,
  dimGift,
  fctWatch,
  fctViewerDay,
  fctGift,
  fctSignup,
  fctSignupAnswer,
  fctSignupChoice,
  fctManagerUsage,
  fctAudienceMinute,
  fctBroadcast,
  fctBroadcastMinute,
  fctBroadcastViewer,
  dailyChannel,
  viewerFunnel,
  viewerFunnelMonth,
  viewerCohortWeek,
  viewerReturnMonth,
  identityConflicts,
  freshness,
  reconciliation,
]

/** Every figure that is stored in `livehouse_ops.channel_figures`. */
export const figures = [newViewers, dailyGifts, dailySignups, viewerReturns, funnelSteps, viewerChecks, unlistedViewers]
