"""The names of a `GenerateContentResponse`, in the Gemini API and in Vertex AI (wire/google-generatecontent.md section 2).

A chunk of a stream and a whole answer have the same names. What is not here is kept in the body and listed as unknown.
"""

from harness.vocabulary import FREE, Kind, Many, Shape

PARTIAL_ARG = Shape("jsonPath stringValue numberValue boolValue nullValue willContinue")
FUNCTION_CALL = Shape("id name willContinue", args=FREE, partialArgs=Many(PARTIAL_ARG))
BLOB = Shape("mimeType data displayName")
FILE = Shape("mimeType fileUri displayName")
MEDIA: dict[str, Kind] = {
    "videoMetadata": Shape("startOffset endOffset fps contentLayers"),
    "audioMetadata": Shape("startOffset endOffset"),
    "documentMetadata": Shape("startPage endPage contentLayers"),
    "spreadsheetMetadata": Shape("visibleCells sheetIndex contentLayers"),
    "mediaResolution": Shape("level numTokens"),
    "mediaProcessing": FREE,
}
WORD = Shape("word startOffset endOffset")
PART = Shape(
    "text thought thoughtSignature",
    functionCall=FUNCTION_CALL,
    functionResponse=Shape(
        "id name willContinue scheduling",
        response=FREE,
        parts=Many(Shape(inlineData=BLOB, fileData=FILE, **MEDIA)),
    ),
    inlineData=BLOB,
    fileData=FILE,
    executableCode=Shape("id language code"),
    codeExecutionResult=Shape("id outcome output"),
    toolCall=Shape("id toolType", args=FREE),
    toolResponse=Shape("id toolType", response=FREE),
    partMetadata=FREE,
    audioTranscription=Shape("text finished languageCode speakerLabel startOffset endOffset", words=Many(WORD)),
    speechMetadata=Shape("speaker style"),
    **MEDIA,
)
CONTENT = Shape("role", parts=Many(PART))

SAFETY_RATINGS = Many(Shape("category probability probabilityScore severity severityScore blocked overwrittenThreshold"))

CITATION = Shape("startIndex endIndex uri title license", publicationDate=Shape("year month day"))
CITATIONS = Shape(citations=Many(CITATION), citationSources=Many(CITATION))

REVIEW = Shape(
    "review reviewId title googleMapsUri flagContentUri relativePublishTimeDescription",
    authorAttribution=Shape("displayName uri photoUri"),
)
RAG_CHUNK = Shape("text chunkId fileId", pageSpan=Shape("firstPage lastPage"))
GROUNDING_CHUNK = Shape(
    web=Shape("uri title domain"),
    image=Shape("sourceUri imageUri title domain"),
    maps=Shape(
        "uri title text placeId",
        placeAnswerSources=Shape("flagContentUri", reviewSnippet=Many(REVIEW), reviewSnippets=Many(REVIEW)),
        route=Shape("distanceMeters duration encodedPolyline"),
    ),
    retrievedContext=Shape(
        "uri title text documentName fileSearchStore pageNumber mediaId",
        ragChunk=RAG_CHUNK,
        customMetadata=Many(Shape("key stringValue numericValue", stringListValue=Shape("values"))),
    ),
)
GROUNDING_SUPPORT = Shape(
    "groundingChunkIndices confidenceScores renderedParts", segment=Shape("partIndex startIndex endIndex text")
)
GROUNDING = Shape(
    "webSearchQueries imageSearchQueries retrievalQueries googleMapsWidgetContextToken",
    groundingChunks=Many(GROUNDING_CHUNK),
    groundingSupports=Many(GROUNDING_SUPPORT),
    searchEntryPoint=Shape("renderedContent sdkBlob"),
    retrievalMetadata=Shape("googleSearchDynamicRetrievalScore"),
    sourceFlaggingUris=Many(Shape("sourceId flagContentUri")),
)
ATTRIBUTION_SOURCE = Shape(groundingPassage=Shape("passageId partIndex"), semanticRetrieverChunk=Shape("source chunk"))

TOKEN = Shape("token tokenId logProbability")
LOGPROBS = Shape("logProbabilitySum", chosenCandidates=Many(TOKEN), topCandidates=Many(Shape(candidates=Many(TOKEN))))

GATHERED = {"citationMetadata": CITATIONS, "logprobsResult": LOGPROBS}
"""Objects of a candidate whose lists grow."""
CANDIDATE = Shape(
    "index finishReason finish_reason finishMessage avgLogprobs tokenCount continuationToken",
    content=CONTENT,
    safetyRatings=SAFETY_RATINGS,
    groundingMetadata=GROUNDING,
    groundingAttributions=Many(Shape(sourceId=ATTRIBUTION_SOURCE, content=CONTENT)),
    urlContextMetadata=Shape(urlMetadata=Many(Shape("retrievedUrl urlRetrievalStatus"))),
    **GATHERED,
)

TOKENS_BY_MODALITY = Many(Shape("modality tokenCount"))
USAGE = Shape(
    "promptTokenCount candidatesTokenCount thoughtsTokenCount toolUsePromptTokenCount cachedContentTokenCount "
    "totalTokenCount trafficType serviceTier",
    promptTokensDetails=TOKENS_BY_MODALITY,
    candidatesTokensDetails=TOKENS_BY_MODALITY,
    cacheTokensDetails=TOKENS_BY_MODALITY,
    toolUsePromptTokensDetails=TOKENS_BY_MODALITY,
)

CHUNK = Shape(
    "modelVersion responseId createTime",
    candidates=Many(CANDIDATE),
    promptFeedback=Shape("blockReason blockReasonMessage", safetyRatings=SAFETY_RATINGS),
    usageMetadata=USAGE,
    modelStatus=Shape("message modelStage retirementTime"),
    error=FREE,  # read as it is: whatever its form, it ends the turn
)
