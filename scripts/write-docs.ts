import { writeFileSync } from 'node:fs'
import { errorCatalogue } from '../src/core/error-catalogue.ts'
import { errorsPage } from './errors-page.ts'

writeFileSync('docs/errors.md', errorsPage(errorCatalogue))
