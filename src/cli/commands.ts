import { alertCommands } from './alerts.ts'
import { backup, verifyBackup } from './backup.ts'
import type { Command } from './command.ts'
import { deviceCommands } from './devices.ts'
import { doctor } from './doctor.ts'
import { exportReadings } from './export.ts'
import { fleetCommands } from './fleets.ts'
import { importReadings } from './import.ts'
import { inboxCommands } from './inbox.ts'
import { init } from './init.ts'
import { keyCommands } from './keys.ts'
import { ledgerCommands } from './ledger.ts'
import { ledgerKeyCommands } from './ledger-keys.ts'
import { networkCommands } from './ledger-networks.ts'
import { ledgerStatus } from './ledger-status.ts'
import { readingCommands } from './readings.ts'
import { replay } from './replay.ts'
import { restore } from './restore.ts'
import { ruleCommands } from './rules.ts'
import { serve } from './serve.ts'
import { simulate } from './simulate.ts'
import { sourceCommands } from './sources.ts'
import { streamCommands } from './streams.ts'
import { tail } from './tail.ts'
import { templateCommands } from './templates.ts'
import { userCommands } from './users.ts'
import { vaultCommands } from './vaults.ts'
import { verify } from './verify.ts'
import { webhookCommands } from './webhooks.ts'

/** Every sub-command, in the order of the help. */
export const commands: readonly Command[] = [
  serve,
  init,
  ...templateCommands,
  ...vaultCommands,
  ...streamCommands,
  ...deviceCommands,
  ...fleetCommands,
  ...sourceCommands,
  ...readingCommands,
  tail,
  replay,
  exportReadings,
  importReadings,
  simulate,
  ...ruleCommands,
  ...alertCommands,
  ...inboxCommands,
  ...webhookCommands,
  ...keyCommands,
  ...userCommands,
  backup,
  verifyBackup,
  restore,
  doctor,
  ...ledgerCommands,
  ...ledgerKeyCommands,
  ...networkCommands,
  ledgerStatus,
  verify,
]
