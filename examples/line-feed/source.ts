import { newField } from '../../src/contracts/definitions/fields.ts'
import { sourceKind } from '../../src/contracts/definitions/source-kind.ts'

/** `lines://host:port`. */
const address = newField<string>(
  (value, key, problems) => {
    const url = typeof value === 'string' ? URL.parse(value) : null
    if (url?.protocol === 'lines:' && url.port !== '') return
    problems.add(key, 'must be an address such as lines://host:port')
  },
  { type: 'string', format: 'uri' },
)

/** Feeds of lines over TCP. */
export const lineFeedSource = sourceKind({
  name: 'LineFeedSource',
  family: 'events',
  protocols: ['lines'],
  fields: {
    endpoint: { ...address, isRequired: true, doc: '`lines://host:port`' },
  },
})
