import type { Migration } from 'kysely/migration'
import { firstSlice } from './0001-first-slice.ts'
import { whoAsks } from './0002-who-asks.ts'
import { lists } from './0003-lists.ts'
import { streamChanges } from './0004-stream-changes.ts'
import { quarantine } from './0005-quarantine.ts'
import { transforms } from './0006-transforms.ts'
import { shares } from './0008-shares.ts'
import { formats } from './0009-formats.ts'
import { lifecycleEvents } from './0011-lifecycle-events.ts'
import { devices } from './0013-devices.ts'
import { streamSources } from './0014-stream-sources.ts'
import { streamTopics } from './0017-stream-topics.ts'
import { retention } from './0022-retention.ts'
import { exportsAndImports } from './0023-exports-and-imports.ts'
import { backups } from './0025-backups.ts'
import { events } from './0026-events.ts'
import { webhooks } from './0027-webhooks.ts'
import { eventsOnce } from './0028-events-once.ts'
import { alerts } from './0029-alerts.ts'
import { alertRules } from './0030-alert-rules.ts'
import { mail } from './0031-mail.ts'
import { downtimes } from './0033-downtimes.ts'
import { sourcePositions } from './0034-source-positions.ts'
import { alertSequences } from './0035-alert-sequences.ts'
import { whoAskedForJobs } from './0036-who-asked-for-jobs.ts'
import { keysOutOfSight } from './0037-keys-out-of-sight.ts'
import { quarantineSenders } from './0038-quarantine-senders.ts'
import { departedStreams } from './0040-departed-streams.ts'
import { steadyTime } from './0041-steady-time.ts'
import { mailsOfAMinute } from './0042-mails-of-a-minute.ts'
import { signingSince } from './0043-signing-since.ts'
import { assetStreamsAndFiles } from './0044-asset-streams-and-files.ts'
import { anchors } from './0045-anchors.ts'
import { anyMessage } from './0046-any-message.ts'
import { consoleSessions } from './0047-console-sessions.ts'
import { partsOfNames } from './0048-parts-of-names.ts'
import { overview } from './0049-overview.ts'
import { consoleSettings } from './0050-console-settings.ts'
import { permissions } from './0051-permissions.ts'
import { signatures } from './0052-signatures.ts'
import { inboxPlaces } from './0053-inbox-places.ts'
import { transactionTerms } from './0054-transaction-terms.ts'
import { ledgerKeys } from './0055-ledger-keys.ts'
import { ledgerWarnings } from './0056-ledger-warnings.ts'
import { whatIsShared } from './0057-what-is-shared.ts'
import { assets } from './0058-assets.ts'
import { ledgerHeights } from './0059-ledger-heights.ts'
import { warnedAccounts } from './0060-warned-accounts.ts'
import { fleets } from './0061-fleets.ts'
import { seals } from './0062-seals.ts'
import { receipts } from './0063-receipts.ts'

/** Every migration by name, in order. A migration that was released is never changed. */
export const migrations: Readonly<Record<string, Migration>> = {
  '0001-first-slice': firstSlice,
  '0002-who-asks': whoAsks,
  '0003-lists': lists,
  '0004-stream-changes': streamChanges,
  '0005-quarantine': quarantine,
  '0006-transforms': transforms,
  '0008-shares': shares,
  '0009-formats': formats,
  '0011-lifecycle-events': lifecycleEvents,
  '0013-devices': devices,
  '0014-stream-sources': streamSources,
  '0017-stream-topics': streamTopics,
  '0022-retention': retention,
  '0023-exports-and-imports': exportsAndImports,
  '0025-backups': backups,
  '0026-events': events,
  '0027-webhooks': webhooks,
  '0028-events-once': eventsOnce,
  '0029-alerts': alerts,
  '0030-alert-rules': alertRules,
  '0031-mail': mail,
  '0033-downtimes': downtimes,
  '0034-source-positions': sourcePositions,
  '0035-alert-sequences': alertSequences,
  '0036-who-asked-for-jobs': whoAskedForJobs,
  '0037-keys-out-of-sight': keysOutOfSight,
  '0038-quarantine-senders': quarantineSenders,
  '0040-departed-streams': departedStreams,
  '0041-steady-time': steadyTime,
  '0042-mails-of-a-minute': mailsOfAMinute,
  '0043-signing-since': signingSince,
  '0044-asset-streams-and-files': assetStreamsAndFiles,
  '0045-anchors': anchors,
  '0046-any-message': anyMessage,
  '0047-console-sessions': consoleSessions,
  '0048-parts-of-names': partsOfNames,
  '0049-overview': overview,
  '0050-console-settings': consoleSettings,
  '0051-permissions': permissions,
  '0052-signatures': signatures,
  '0053-inbox-places': inboxPlaces,
  '0054-transaction-terms': transactionTerms,
  '0055-ledger-keys': ledgerKeys,
  '0056-ledger-warnings': ledgerWarnings,
  '0057-what-is-shared': whatIsShared,
  '0058-assets': assets,
  '0059-ledger-heights': ledgerHeights,
  '0060-warned-accounts': warnedAccounts,
  '0061-fleets': fleets,
  '0062-seals': seals,
  '0063-receipts': receipts,
}
