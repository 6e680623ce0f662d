/**
 * A text as it stands in a statement, quotes included: whatever is in it, it ends no literal. Each server is written to
 * in a way that none of its settings changes.
 */
export function sqlLiteral(protocol: string, text: string): string {
  const doubled = text.replaceAll("'", "''")
  switch (protocol) {
    // Whether a backslash means something depends on a setting, and here it does in any case.
    case 'postgres':
      return text.includes('\\') ? `E'${doubled.replaceAll('\\', '\\\\')}'` : `'${doubled}'`
    case 'mysql':
    case 'mariadb':
      return `CONVERT(X'${Buffer.from(text).toString('hex')}' USING utf8mb4)`
    case 'mssql':
      return `N'${doubled}'`
    default:
      return `'${doubled}'`
  }
}
