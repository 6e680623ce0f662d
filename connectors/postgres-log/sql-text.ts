/** A text as it stands in a statement. */
export function literal(text: string): string {
  const doubled = text.replaceAll("'", "''")
  return text.includes('\\') ? ` E'${doubled.replaceAll('\\', '\\\\')}'` : `'${doubled}'`
}

/** A name as it stands in a statement, in upper and lower case as it is written. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
