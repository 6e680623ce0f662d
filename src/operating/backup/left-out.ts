import { DatabaseSync } from 'node:sqlite'

/** Tables of the state whose rows are in no backup: whoever is signed in to the console signs in again after a restore. */
const leftOut = ['console_sessions'] as const

/** Removes from a copied state what a backup leaves out, so that nothing of it is in the file. */
export function leaveOut(path: string): void {
  const connection = new DatabaseSync(path)
  try {
    connection.exec('PRAGMA secure_delete = ON')
    for (const table of leftOut) connection.exec(`DELETE FROM ${table}`)
  } finally {
    connection.close()
  }
}

/** Rows of each table, as they are in a copy. */
export function countsLeft(counts: Readonly<Record<string, number>>): Record<string, number> {
  return { ...counts, ...Object.fromEntries(leftOut.map((table) => [table, 0])) }
}
