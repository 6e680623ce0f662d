import { resolve } from 'node:path'
import { readSettings } from '../config/config.ts'
import { filesIn } from '../config/data-folder.ts'
import type { Input, Option } from './command.ts'

export const dataDirOption: Option = {
  name: 'data-dir',
  value: 'FOLDER',
  summary: 'The data folder with the ledger. Default: STREAMVAULT_DATA_DIR.',
}

/** The folder of the ledger of our own. Nothing is made there. */
export function ledgerFolderOf({ options }: Input): string {
  const dataDir = options['data-dir'] ?? readSettings(process.env).config.dataDir
  return filesIn(resolve(dataDir)).ledger
}
