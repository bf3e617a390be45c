/** What a model got wrong in its arguments and the schema could not tell: the tool answers with this sentence. */
export class ToolMistake extends Error {}
