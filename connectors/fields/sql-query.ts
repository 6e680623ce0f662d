/**
 * What is put into quotes, and comments, up to the end where one is not closed: else the end would be looked for
 * from each beginning. In MySQL a backslash takes the meaning from a quote.
 */
const opaque = {
  mysql:
    /'(?:[^'\\]|\\.?|'')*(?:'|$)|"(?:[^"\\]|\\.?|"")*(?:"|$)|`[^`]*(?:`|$)|(?:--\s|#)[^\n]*|\/\*.*?(?:\*\/|$)/gs,
  others:
    /'(?:[^']|'')*(?:'|$)|"(?:[^"]|"")*(?:"|$)|\[[^\]]*(?:\]|$)|\$(\w*)\$.*?\$\1\$|--[^\n]*|\/\*.*?(?:\*\/|$)/gs,
} as const

/**
 * Says early what a server would say: that it is one statement, and one that reads. What keeps it from writing is the
 * read-only session.
 */
export function queryProblem(query: string, protocol: string): string | undefined {
  if (protocol === 'mssql') return transactSqlProblem(query)
  const isMysql = protocol === 'mysql' || protocol === 'mariadb'
  const bare = query.replaceAll(isMysql ? opaque.mysql : opaque.others, ' ').trim()
  if (bare === '') return undefined
  if (/;\s*[^\s;]/.test(bare)) return 'must be one statement'
  if (!/^[\s(]*(select|with|table|values)\b/i.test(bare)) return 'must be a SELECT'
  return undefined
}

const opaqueInTransactSql = /'(?:[^']|'')*'|"(?:[^"]|"")*"|\[(?:[^\]]|\]\])*\]/g

/**
 * SQL Server runs several statements at once, even without a semicolon between them. The query stands in parentheses, out
 * of which nothing can get that has as many of them as it should: where a comment ends is not left to be guessed.
 */
function transactSqlProblem(query: string): string | undefined {
  const bare = query.replaceAll(opaqueInTransactSql, ' ').replace(/[\s;]+$/, '')
  if (bare.trim() === '') return undefined
  if (/--|\/\*/.test(bare)) return 'must have no comments'
  if (/['"[]/.test(bare)) return 'has a quote that does not end'
  if (bare.includes(';') || !isBalanced(bare)) return 'must be one statement'
  if (!/^[\s(]*select\b/i.test(bare)) return 'must be a SELECT'
  return undefined
}

function isBalanced(bare: string): boolean {
  let depth = 0
  for (const [sign] of bare.matchAll(/[()]/g)) {
    depth += sign === '(' ? 1 : -1
    if (depth < 0) return false
  }
  return depth === 0
}
