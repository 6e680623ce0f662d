import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { errorCatalogue } from '../src/core/error-catalogue.ts'
import { errorsPage } from './errors-page.ts'
import { withKeyTables } from './key-tables.ts'
import { sourceKeyTables } from './source-keys.ts'

writeFileSync('docs/errors.md', errorsPage(errorCatalogue))
for (const file of globSync('docs/*.md')) {
  const page = readFileSync(file, 'utf8')
  const written = withKeyTables(page, sourceKeyTables)
  if (written !== page) writeFileSync(file, written)
}
