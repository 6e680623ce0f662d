import { Field } from '../../../components/field.tsx'
import { bytes } from '../../../formats/numbers.ts'
import { isTooLarge } from './vault-draft.ts'

export interface FileFieldProps {
  readonly label: string
  readonly accept: string
  readonly bytesMax: number
  readonly what: string
  readonly file: File | undefined
  readonly onFile: (file: File | undefined) => void
}

/** A file that is sent along, with how large it may be. */
export function FileField({ label, accept, bytesMax, what, file, onFile }: FileFieldProps) {
  const problem =
    file && isTooLarge(file, bytesMax)
      ? `This file has ${bytes(file.size)}: it is too large`
      : undefined
  return (
    <Field
      label={label}
      hint={`${what}, ${bytes(bytesMax)} at most`}
      problem={problem}
      control={(tied) => (
        <input
          {...tied}
          type="file"
          accept={accept}
          onChange={({ currentTarget }) => onFile(currentTarget.files?.[0])}
        />
      )}
    />
  )
}
