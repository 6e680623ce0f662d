/** Longest header that is looked at. */
const lengthMax = 32 * 1024

/** The target of the link whose relation is `next` (RFC 8288, section 3), as it is written; undefined for none. */
export function nextLink(header: string | readonly string[] | undefined): string | undefined {
  const text = typeof header === 'string' ? header : header?.join(', ')
  if (text === undefined || text.length > lengthMax) return undefined
  const links = text.matchAll(
    /<([^<>]*)>((?:\s*;\s*[\w!#$&+\-.^`|~*]+(?:\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s",;]+))?)*)/g,
  )
  for (const [, target, parameters = ''] of links) {
    const relation = /(?:^|;)\s*rel\s*=\s*(?:"([^"]*)"|([^\s",;]+))/i.exec(parameters)
    const relations = (relation?.[1] ?? relation?.[2] ?? '').toLowerCase().split(/\s+/)
    if (relations.includes('next')) return target
  }
  return undefined
}
