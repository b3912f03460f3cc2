export function transcriptLines(seed: number): Generator<string, never>;
export function writeTranscript(file: string, bytes: number, seed: number): void;
