import { backup, verifyBackup } from './backup.ts'
import type { Command } from './command.ts'
import { doctor } from './doctor.ts'
import { exportReadings } from './export.ts'
import { importReadings } from './import.ts'
import { keyCommands } from './keys.ts'
import { ledgerCommands } from './ledger.ts'
import { ledgerKeyCommands } from './ledger-keys.ts'
import { networkCommands } from './ledger-networks.ts'
import { replay } from './replay.ts'
import { restore } from './restore.ts'
import { serve } from './serve.ts'
import { simulate } from './simulate.ts'
import { streamCommands } from './streams.ts'
import { tail } from './tail.ts'
import { userCommands } from './users.ts'
import { verify } from './verify.ts'

/** Every sub-command, in the order of the help. */
export const commands: readonly Command[] = [
  serve,
  ...keyCommands,
  ...userCommands,
  ...streamCommands,
  tail,
  replay,
  exportReadings,
  importReadings,
  simulate,
  backup,
  verifyBackup,
  restore,
  doctor,
  ...ledgerCommands,
  ...ledgerKeyCommands,
  ...networkCommands,
  verify,
]
